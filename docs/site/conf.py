"""The settings of Sphinx for the documentation site; scripts/build_site.py runs it on the pages that it has staged."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "python"))

project = "sptrsv"
author = "The sptrsv authors"
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "sptrsv"
html_copy_source = False
myst_heading_anchors = 4
breathe_projects = {"sptrsv": "xml"}
breathe_default_project = "sptrsv"
breathe_default_members = ("members",)
autodoc_mock_imports = ["sptrsv._library", "sptrsv._jax_plugin", "cupy", "cupyx", "jax", "torch"]
autodoc_typehints = "none"  # the docstrings say what parameters are
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False
napoleon_use_rtype = False
# A C structure and its typedef of the same name are one declaration for C++; Sphinx knows no lambda as a default value.
suppress_warnings = ["duplicate_declaration.cpp", "source_code_parser.cpp"]
