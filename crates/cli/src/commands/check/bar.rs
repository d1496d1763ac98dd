//! How a run of checks looks while it goes on: a bar on a terminal, nothing elsewhere.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ordain_checks::{CheckProgress, CheckResult, CheckStatus};
use ordain_engine::Progress;
use ordain_types::BoxFuture;

use crate::show::{cut, line};

/// The bar, on stderr.
#[derive(Debug)]
pub(super) struct Bar {
    bar: ProgressBar,
    failed: usize,
}

impl Bar {
    pub(super) fn new(is_quiet: bool) -> Self {
        let is_shown = !is_quiet && io::stderr().is_terminal();
        let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar, failed: 0 }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn style(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }
}

impl Progress for Bar {
    fn stage(&mut self, text: &str) {
        self.style("{spinner} {prefix} {msg}");
        self.bar.set_prefix(text.to_owned());
    }
}

impl CheckProgress for Bar {
    fn expect(&mut self, checks: usize) {
        self.bar.set_length(checks as u64);
    }

    fn checked(&mut self, result: &CheckResult) {
        self.style("{spinner} {prefix} {bar:24} {pos}/{len} {msg}");
        self.failed += usize::from(result.is_open() || result.status == CheckStatus::Fail);
        self.bar.inc(1);
        self.bar.set_message(format!("{} failed · {}", self.failed, cut(&line(&result.check_name), 40)));
    }

    fn stopped(&self) -> BoxFuture<'static, ()> {
        Box::pin(async { drop(tokio::signal::ctrl_c().await) })
    }
}
