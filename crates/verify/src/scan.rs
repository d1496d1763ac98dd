//! Measures how deep a source nests before anything recursive touches it.
//!
//! The walks over a syntax tree and even dropping it recurse once for each level of nesting (the parser itself
//! grows its stack). Reading plain tokens in one loop gives an upper bound for that depth, so that a hostile file
//! is refused, and the stack that an accepted one needs is known.

use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_parser::{Mode, lexer};
use ruff_text_size::{Ranged, TextRange};

use crate::policy::CodeLimits;

/// Why a source was refused before it was parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooDeep {
    Brackets,
    Blocks,
    Expression,
}

/// Sources up to this size are parsed before they are measured, which saves reading them twice: with a byte or
/// more for each level, their trees cannot be too deep to drop.
pub(crate) const SHORT_MAX: usize = 16 * 1024;

/// Refuses a source that nests too deep, with the offset where, before it is parsed.
pub(crate) fn check(source: &str, limits: &CodeLimits) -> Result<(), (TooDeep, usize)> {
    measure(source, limits).map(|_| ()).map_err(|limit| (limit, place(source, limits)))
}

/// An upper bound for the depth of a tree, from its tokens; or the limit that is passed and the token that does.
pub(crate) fn depth(tokens: &[Token], limits: &CodeLimits) -> Result<usize, (TooDeep, TextRange)> {
    let mut scan = Scan::new();
    for token in tokens {
        scan.take(token.kind());
        if let Some(limit) = scan.passed(limits) {
            return Err((limit, token.range()));
        }
    }
    Ok(scan.deepest)
}

/// The lexer does not tell where it is. The shortest source that is refused ends just behind the token that
/// passes the limit; a search by halves finds it, and each step stops at that token.
fn place(source: &str, limits: &CodeLimits) -> usize {
    let (mut accepted, mut refused) = (0, source.len());
    while refused - accepted > 1 {
        let middle = source.floor_char_boundary(accepted.midpoint(refused));
        if middle == accepted {
            break;
        }
        if measure(&source[..middle], limits).is_ok() {
            accepted = middle;
        } else {
            refused = middle;
        }
    }
    accepted
}

fn measure(source: &str, limits: &CodeLimits) -> Result<usize, TooDeep> {
    let mut scan = Scan::new();
    let mut tokens = lexer::lex(source, Mode::Module);
    loop {
        let kind = tokens.next_token();
        if kind == TokenKind::EndOfFile {
            return Ok(scan.deepest);
        }
        scan.take(kind);
        if let Some(limit) = scan.passed(limits) {
            return Err(limit);
        }
    }
}

/// What was counted since the last separator inside one pair of brackets.
#[derive(Default)]
struct Level {
    /// Operators, calls, attributes: each wraps what is before or after it.
    operators: usize,
    /// Lambdas. A comma does not end them, because their parameters hold commas.
    lambdas: usize,
}

struct Scan {
    open: Vec<Level>,
    blocks: usize,
    deepest: usize,
    /// The sum over all open levels.
    total: usize,
}

impl Scan {
    fn new() -> Self {
        Self { open: vec![Level::default()], blocks: 0, deepest: 0, total: 0 }
    }

    fn take(&mut self, kind: TokenKind) {
        match kind {
            // A string with braces holds expressions, which may hold strings again.
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => self.open.push(Level::default()),
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd => self.close(),
            TokenKind::Comma => self.reset(false),
            TokenKind::Newline | TokenKind::Semi => self.reset(true),
            TokenKind::Indent => self.blocks += 1,
            TokenKind::Dedent => self.blocks = self.blocks.saturating_sub(1),
            TokenKind::Lambda => {
                self.top().lambdas += 1;
                self.total += 1;
            }
            _ if deepens(kind) => self.add(),
            _ => return,
        }
        self.deepest = self.deepest.max(self.total + self.open.len() + self.blocks);
    }

    fn passed(&self, limits: &CodeLimits) -> Option<TooDeep> {
        if self.open.len() - 1 > limits.brackets_max {
            Some(TooDeep::Brackets)
        } else if self.blocks > limits.blocks_max {
            Some(TooDeep::Blocks)
        } else if self.total > limits.depth_max {
            Some(TooDeep::Expression)
        } else {
            None
        }
    }

    /// Leaves a pair of brackets; what it held is now one operand, and a call or index wraps what stood before.
    fn close(&mut self) {
        if self.open.len() > 1
            && let Some(level) = self.open.pop()
        {
            self.total -= level.operators + level.lambdas;
        }
        self.add();
    }

    fn add(&mut self) {
        self.top().operators += 1;
        self.total += 1;
    }

    fn reset(&mut self, is_statement_end: bool) {
        let level = self.top();
        let mut ended = std::mem::take(&mut level.operators);
        if is_statement_end {
            ended += std::mem::take(&mut level.lambdas);
        }
        self.total -= ended;
    }

    fn top(&mut self) -> &mut Level {
        // The outermost level is never closed, so there is always one.
        let last = self.open.len() - 1;
        &mut self.open[last]
    }
}

/// Whether a token puts one node around another.
fn deepens(kind: TokenKind) -> bool {
    use TokenKind as T;
    matches!(
        kind,
        T::Plus
            | T::Minus
            | T::Star
            | T::Slash
            | T::Vbar
            | T::Amper
            | T::Less
            | T::Greater
            | T::Dot
            | T::Percent
            | T::EqEqual
            | T::NotEqual
            | T::LessEqual
            | T::GreaterEqual
            | T::Tilde
            | T::CircumFlex
            | T::LeftShift
            | T::RightShift
            | T::DoubleStar
            | T::DoubleSlash
            | T::At
            | T::ColonEqual
            | T::And
            | T::Or
            | T::Not
            | T::In
            | T::Is
            | T::If
            | T::Else
            | T::For
            | T::Async
            | T::Await
            | T::Yield
            | T::From
            | T::As
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> CodeLimits {
        CodeLimits { brackets_max: 10, blocks_max: 5, depth_max: 20, ..CodeLimits::default() }
    }

    fn refused(source: &str) -> Option<TooDeep> {
        check(source, &limits()).err().map(|(limit, _)| limit)
    }

    #[test]
    fn each_kind_of_nesting_has_its_limit() {
        assert_eq!(refused(&"(".repeat(11)), Some(TooDeep::Brackets));
        assert_eq!(refused(&"[{(".repeat(4)), Some(TooDeep::Brackets));
        assert_eq!(refused(&format!("x = {}1", "-".repeat(30))), Some(TooDeep::Expression));
        assert_eq!(refused(&format!("x = a{}", ".b".repeat(30))), Some(TooDeep::Expression));
        assert_eq!(refused(&format!("x = f{}", "()".repeat(30))), Some(TooDeep::Expression));
        assert_eq!(refused(&format!("x = {}1", "lambda a, b: ".repeat(30))), Some(TooDeep::Expression));
        assert_eq!(refused(&format!("x = f'{{{}1}}'", "-".repeat(30))), Some(TooDeep::Expression));
        let lines: Vec<String> = (0..8).map(|level| format!("{}if x:", " ".repeat(level))).collect();
        assert_eq!(refused(&format!("{}\n{}pass", lines.join("\n"), " ".repeat(8))), Some(TooDeep::Blocks));
    }

    #[test]
    fn the_place_is_the_token_that_passes_the_limit() {
        let source = format!("x = 'é'\ny = {}", "(".repeat(40));
        let (_, at) = check(&source, &limits()).unwrap_err();
        assert_eq!(at, source.find('(').unwrap() + 10);
    }

    #[test]
    fn length_is_not_depth() {
        assert_eq!(refused(&"x = a.b + 1\n".repeat(100)), None);
        assert_eq!(refused(&format!("x = [{}]", "-1, ".repeat(100))), None);
        assert_eq!(refused(&format!("x = {{{}}}", "'a': -1, ".repeat(100))), None);
        assert_eq!(refused(&format!("x = '{}'", "(".repeat(100))), None);
        assert_eq!(refused(&format!("# {}", "(".repeat(100))), None);
        assert_eq!(refused(&format!("x = '''{}'''", "(\n".repeat(100))), None);
    }

    #[test]
    fn closing_what_was_never_opened_is_no_panic() {
        assert_eq!(refused(&")]}".repeat(5)), None);
        assert!(refused(&")]}\n".repeat(500)).is_none());
    }
}
