//! An expression as a list of tokens.

use crate::ExpressionError;

/// A token of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A word of the language.
    Word(&'static str),
    /// The name of a column.
    Column(String),
    /// A number without a sign.
    Number(i128),
    /// A sign, of one or two characters.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Words that are no names of columns, unless in quotes.
const WORDS: [&str; 8] = ["sum", "count", "where", "by", "in", "and", "or", "not"];

/// The signs, the longer first.
const SIGNS: [&str; 13] = ["<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "(", ")", ","];

/// The tokens of `text`, each with its first character's number, from 1.
pub(crate) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ExpressionError> {
    let characters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut next = 0;
    while let Some(&first) = characters.get(next) {
        let (at, rest) = (next + 1, &characters[next..]);
        let (token, len) = if first.is_whitespace() {
            next += 1;
            continue;
        } else if first.is_ascii_digit() {
            let digits: String = rest.iter().take_while(|c| c.is_ascii_digit()).collect();
            let number = digits.parse().map_err(|_| ExpressionError::NumberTooLarge { at })?;
            (Token::Number(number), digits.len())
        } else if first == '"' {
            let (name, len) = quoted(rest).ok_or(ExpressionError::Expected {
                at,
                expected: "the quote at the end of a name",
            })?;
            (Token::Column(name), len)
        } else if is_of_name(first) {
            let name: Vec<char> = rest.iter().copied().take_while(|c| is_of_name(*c)).collect();
            let (len, name) = (name.len(), name.into_iter().collect::<String>());
            match WORDS.iter().find(|word| **word == name) {
                Some(word) => (Token::Word(word), len),
                None => (Token::Column(name), len),
            }
        } else {
            let is_here = |sign: &&&str| sign.chars().eq(rest.iter().copied().take(sign.len()));
            let sign = SIGNS.iter().find(is_here).ok_or(ExpressionError::Expected {
                at,
                expected: "a name, a number or an operator",
            })?;
            (Token::Sign(sign), sign.len())
        };
        tokens.push((at, token));
        next += len;
    }
    tokens.push((characters.len() + 1, Token::End));
    Ok(tokens)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name in quotes at the start of `text`, in which two quotes are one, and its length there.
fn quoted(text: &[char]) -> Option<(String, usize)> {
    let (mut name, mut at) = (String::new(), 1);
    loop {
        match (text.get(at)?, text.get(at + 1)) {
            ('"', Some('"')) => {
                name.push('"');
                at += 2;
            }
            ('"', _) => return Some((name, at + 1)),
            (c, _) => {
                name.push(*c);
                at += 1;
            }
        }
    }
}
