//! What each Python profile makes importable: module names, not package names.
//!
//! A test compares them with the requirement files that profiles are set up from.

/// Modules of the `core` profile.
pub const CORE: &[&str] = &["tinydb"];

/// Modules of the `data` profile.
pub const DATA: &[&str] = words!("profiles_data.txt");

/// Modules of the `full` profile.
pub const FULL: &[&str] = words!("profiles_full.txt");

/// The module of a package whose two names differ, for imports that use the package's name.
pub(crate) const PACKAGE_MODULES: &[(&str, &str)] = &[
    ("beautifulsoup4", "bs4"),
    ("pillow", "PIL"),
    ("pyyaml", "yaml"),
    ("python_dateutil", "dateutil"),
    ("python_docx", "docx"),
    ("python_pptx", "pptx"),
    ("scikit_learn", "sklearn"),
    ("scikit", "sklearn"),
    ("Image", "PIL"),
    ("pypdf2", "PyPDF2"),
    ("netcdf4", "netCDF4"),
    ("bs", "bs4"),
    ("XlsxWriter", "xlsxwriter"),
];
