//! Comments, strings and characters in source text.

/// The end of what begins at `start`, and whether it is a string with escapes: a comment, a string,
/// or a character. `None` if it is none of these.
pub(crate) fn literal_end(code: &str, start: usize) -> Option<(usize, bool)> {
    let rest = &code[start..];
    let until = |end: &str, from: usize| {
        rest[from..].find(end).map_or(code.len(), |at| start + from + at + end.len())
    };
    if rest.starts_with("//") {
        return Some((rest.find('\n').map_or(code.len(), |at| start + at), false));
    }
    if rest.starts_with("/*") {
        return Some((until("*/", 2), false));
    }
    if let Some(raw) = rest.strip_prefix('r') {
        let before = code[..start].chars().next_back();
        let in_a_word = before.is_some_and(|c| c != 'b' && (c.is_alphanumeric() || c == '_'));
        let marks = raw.len() - raw.trim_start_matches('#').len();
        if !in_a_word && raw[marks..].starts_with('"') {
            return Some((until(&format!("\"{}", "#".repeat(marks)), marks + 2), false));
        }
    }
    if rest.starts_with('\'') {
        let mut chars = rest.char_indices().skip(1);
        let (_, first) = chars.next()?;
        if first == '\\' {
            return Some((until("'", if rest[2..].starts_with('\'') { 3 } else { 2 }), false));
        }
        let (at, closes) = chars.next()?;
        return (closes == '\'').then_some((start + at + 1, false));
    }
    if rest.starts_with('"') {
        let mut escaped = false;
        let end = rest.char_indices().skip(1).find(|&(_, c)| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        });
        return Some((end.map_or(code.len(), |(at, _)| start + at + 1), true));
    }
    None
}
