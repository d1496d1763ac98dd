//! The files that pages load, with a hash of their content in the address, so that browsers may keep them for ever.
//!
//! Those under `assets/vendor` are copies of published packages; `cargo xtask vendor` compares them with what is
//! published, by the list in `assets/vendor/versions.toml`.

use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};

/// A file that pages load.
#[derive(Debug)]
pub struct Asset {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub media_type: &'static str,
    /// What it holds.
    pub content: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// Every file.
pub const ALL: [Asset; 8] = [
    Asset { name: "ui.css", media_type: STYLE, content: include_str!("../assets/ui.css") },
    Asset { name: "ui.js", media_type: SCRIPT, content: include_str!("../assets/ui.js") },
    Asset { name: "htmx.js", media_type: SCRIPT, content: include_str!("../assets/vendor/htmx.min.js") },
    Asset { name: "hx-sse.js", media_type: SCRIPT, content: include_str!("../assets/vendor/hx-sse.min.js") },
    Asset {
        name: "uplot.js",
        media_type: SCRIPT,
        content: include_str!("../assets/vendor/uPlot.iife.min.js"),
    },
    Asset { name: "uplot.css", media_type: STYLE, content: include_str!("../assets/vendor/uPlot.min.css") },
    Asset {
        name: "swagger-ui.js",
        media_type: SCRIPT,
        content: include_str!("../assets/vendor/swagger-ui-bundle.js"),
    },
    Asset {
        name: "swagger-ui.css",
        media_type: STYLE,
        content: include_str!("../assets/vendor/swagger-ui.css"),
    },
];

/// Where a file is found: `/assets/<hash>/<name>`.
pub fn address(name: &str) -> &'static str {
    static ADDRESSES: OnceLock<Vec<(&str, String)>> = OnceLock::new();
    let addresses = ADDRESSES.get_or_init(|| {
        ALL.iter().map(|asset| (asset.name, format!("/assets/{}/{}", hash(asset), asset.name))).collect()
    });
    addresses.iter().find(|(of, _)| *of == name).map_or("/assets/", |(_, address)| address)
}

/// The file at such an address, with its place among all, if its content is still the same.
pub fn find(hash_in_address: &str, name: &str) -> Option<(usize, &'static Asset)> {
    let found = const { &ALL }.iter().enumerate().find(|(_, asset)| asset.name == name);
    found.filter(|(_, asset)| hash(asset) == hash_in_address)
}

fn hash(asset: &Asset) -> String {
    ordain_types::hex(&Sha256::digest(asset.content.as_bytes())[..6])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_what_was_published() {
        let sums = include_str!("../assets/vendor/SHA256SUMS");
        let files = [
            ("htmx.js", "htmx.min.js"),
            ("hx-sse.js", "hx-sse.min.js"),
            ("uplot.js", "uPlot.iife.min.js"),
            ("uplot.css", "uPlot.min.css"),
            ("swagger-ui.js", "swagger-ui-bundle.js"),
            ("swagger-ui.css", "swagger-ui.css"),
        ];
        assert_eq!(sums.lines().count(), files.len());
        for (name, file) in files {
            let asset = ALL.iter().find(|asset| asset.name == name).unwrap();
            let sum = ordain_types::hex(&Sha256::digest(asset.content.as_bytes()));
            assert!(sums.contains(&format!("{sum}  {file}\n")), "{file}");
        }
    }

    #[test]
    fn every_file_is_found_at_its_own_address_and_no_other() {
        for asset in &ALL {
            let address = address(asset.name);
            let hash = address.split('/').nth(2).unwrap();
            assert_eq!(find(hash, asset.name).map(|(_, found)| found.name), Some(asset.name));
            assert!(find("000000000000", asset.name).is_none());
        }
        assert!(find("", "../Cargo.toml").is_none());
    }
}
