//! Plans for questions about files, by rules.
//!
//! A request is read as words against what the files were found to hold ([`catalog`]): columns, values and sheets give
//! it its slots, a small lexicon its intent ([`request`]). What comes out is ordinary commented pandas code. Where two
//! readings are equally good the planner asks; where none is, it says that a model is needed.

mod arrays;
mod big_code;
mod calculate;
mod catalog;
mod filters;
mod lexicon;
mod plot_code;
mod python;
mod question;
mod reader;
mod request;
mod table_code;
mod text;
mod vocabulary;

pub use text::READ_DOC;

use crate::brief::{Brief, FileBrief};
use crate::exchange::{Draft, Reply};

/// The longest request that is read by rules.
const WORDS_MAX: usize = 120;

/// Writes the plan.
pub fn plan(brief: &Brief) -> Reply {
    let words = lexicon::tokens(&brief.request);
    if words.is_empty() {
        return Reply::Question("What would you like to know?".to_owned());
    }
    if words.len() > WORDS_MAX {
        return needs_model("the request is longer than rules can read");
    }
    let readable: Vec<_> = brief.files.iter().filter(|file| file.facts.get("problem").is_none()).collect();
    if !brief.files.is_empty() && readable.is_empty() {
        let problems: Vec<String> = brief
            .files
            .iter()
            .take(5)
            .filter_map(|file| Some(format!("{}: {}", file.name, file.facts.get("problem")?.as_str()?)))
            .collect();
        return Reply::Refusal(format!("none of the files can be read: {}", problems.join("; ")));
    }
    if readable.is_empty() {
        return calculate::plan(&brief.request, &words)
            .or_else(|| text::plan_quoted(&brief.request, &words))
            .unwrap_or_else(|| {
                needs_model("it is no calculation that the reader knows, and no file is given")
            });
    }
    let catalog = catalog::Catalog::of(&readable);
    arrays::plan(&readable, &words)
        .or_else(|| text::plan(&readable, &catalog, &brief.request, &words))
        .or_else(|| request::plan(&catalog, &brief.request, &words))
        .or_else(|| arrays::describe(&readable, &words))
        .or_else(|| calculate::plan(&brief.request, &words))
        .unwrap_or_else(|| needs_model("the reader found no question in it that it knows"))
}

/// Whether a table of this file is read in pieces: the same question gets other code then.
pub fn is_read_in_pieces(file: &FileBrief) -> bool {
    catalog::Catalog::of(&[file]).sources.iter().any(catalog::Source::is_big)
}

fn needs_model(why: &str) -> Reply {
    Reply::Refusal(format!("{why}; a model is needed (`--model`)"))
}

/// A plan of rules.
fn draft(title: &str, code: String) -> Reply {
    Reply::Plan(Draft { code, title: title.to_owned(), ..Draft::default() })
}

#[cfg(test)]
mod tests;
