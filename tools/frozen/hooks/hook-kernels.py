"""For PyInstaller: the module `kernels` keeps its source."""

module_collection_mode = "pyz+py"
