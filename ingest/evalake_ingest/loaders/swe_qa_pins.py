"""Pins of SWE-QA: the source's commit, each file's hash, each repository's commit."""

from __future__ import annotations

from evalake_ingest.corpora.clones import Pin

REVISION = "d7bf283d65f4bbdc86ead92fc130eee4986355f0"

FILE_SHA256S = {
    "astropy": "67b852d9a4dfc9cf347b29e233b247623948ebf64f3510f3dc513ce62bab1c4a",
    "conan": "5a5e1f9498312a858ef15a55272802c2ed8ac12c4caf3d1e6fe49210ffc24bac",
    "django": "69b4052df489b9781031b6c8c28640b2043a3299ba290147441ecc8c6a62bdcd",
    "flask": "8e0ecf2163bcbb57282dac291c3801421ef4a7424a721159685945d7b836cb69",
    "matplotlib": "e43db166c2c2053447bddba3733df27d98ac615b06cce56c0161a1cd555de3ad",
    "pylint": "e362c5de37c47f2bf28985173a21ff5e9bf4ae2302d333f495c6e9165ba97389",
    "pytest": "cbb235270f2a4a223493621a172978a2349a6e998cefec66e97be324d1c23c80",
    "reflex": "3016f0430606f9a1332fd09e6a649466c5746366d4515cdfbf680fd230c3400d",
    "requests": "01606b45b6e92120f4ed429f402e01d173272902baf04353616090c13e3d0ad6",
    "scikit-learn": "2a789b2dcb0c11cd71d48aeddeb6b8e66c4623de7d65c7d08948068a6d0bfa75",
    "sphinx": "348b9a481eb87a2163fe2a881d954e99fce4eb0d29cafbe4cb9b7c5fd8128dca",
    "sqlfluff": "d68d09bb18d6d7be3274b2b6a6a02ef7b1c433e9bf09a7f628fb71750b1152f7",
    "streamlink": "59914d844f35de5f627c782cb5db7d320ed44f101619f95b186151951fe4740b",
    "sympy": "e8e02178dd7a3e26becc165279fe92b0109615bf21083b64a8d7469d3f43a5f0",
    "xarray": "183d9bd44be4535fa53d86518e30b77665253675820cbe95c7f8f561823908ba",
}

# repo_commit.txt of the source gives seven digits; the rest is filled in where it is known.
_COMMITS = {
    "astropy/astropy": "0a041d38fbd0014298d4cf340d9f891c4522093f",
    "conan-io/conan": "52f43d9",
    "django/django": "14fc2e9",
    "pallets/flask": "85c5d93cbd049c4bd0679c36fd1ddcae8c37b642",
    "matplotlib/matplotlib": "a5e1f60",
    "pylint-dev/pylint": "44740e5e5cdd2b80321a4f0ed4254213d058b9f6",
    "pytest-dev/pytest": "5989efe3efec31a9d14f550d89903b6311dfc828",
    "reflex-dev/reflex": "fe0f946dc0c240c6c1e513318c21db407e191c78",
    "psf/requests": "46e939b5525d9c72b677340985582b04b128478a",
    "scikit-learn/scikit-learn": "adb1ae7",
    "sphinx-doc/sphinx": "6c9e3209c4ebc81c7c09f6a30eeaa4651f32f461",
    "sqlfluff/sqlfluff": "db9801b7eb7fd014e765117f63ee1b0675fa9f87",
    "streamlink/streamlink": "ab1f36560005253ca6a290a614730bf18a29a7f9",
    "sympy/sympy": "3c817ed8ab551d71e36907ce869afe5e4ca789ff",
    "pydata/xarray": "40119bf35c53fc222934894d842cfc07b2e264bf",
}

PINS = {
    repo.rpartition("/")[2]: Pin(repo, commit, f"https://github.com/{repo}")
    for repo, commit in _COMMITS.items()
}
