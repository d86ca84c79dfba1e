//! The parts of an explanation, and their text.

use serde::Serialize;
use std::fmt;

/// Width of the text form in columns.
const WIDTH: usize = 88;

/// What an agreement means: who learns what, what is assumed, what is not protected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The agreement's title.
    pub title: String,
    /// The agreement's hash, in hexadecimal; none while identities are missing.
    pub hash: Option<String>,
    /// The parties, and the helper, whose identities are missing.
    pub missing: Vec<String>,
    /// What the people who sign read first, on one screen: at most 20 lines for most agreements.
    pub summary: Vec<Section>,
    /// All parts, in the order in which they are read.
    pub sections: Vec<Section>,
}

/// One part of an explanation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// Its statements, one or a few sentences each.
    pub points: Vec<String>,
}

/// A section for each title.
pub(super) fn sections<const N: usize>(
    titles: [&'static str; N],
    points: [Vec<String>; N],
) -> Vec<Section> {
    let sections = titles.into_iter().zip(points);
    sections.map(|(title, points)| Section { title, points }).collect()
}

impl Explanation {
    /// The first screen as text.
    pub fn screen(&self) -> String {
        let mut text = self.head();
        text.push('\n');
        for section in &self.summary {
            text += &format!("{}\n", section.title);
            text.extend(section.points.iter().map(|point| in_lines(point)));
        }
        text
    }

    fn head(&self) -> String {
        let of = match (&self.hash, &self.missing[..]) {
            (Some(hash), _) => format!("agreement {hash}"),
            (None, missing) => format!("draft; missing identities: {}", missing.join(", ")),
        };
        format!("{}\n{of}\n", self.title)
    }
}

/// All parts as text, without the first screen.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head())?;
        for section in &self.sections {
            writeln!(f, "\n{}", section.title)?;
            section.points.iter().try_for_each(|point| f.write_str(&in_lines(point)))?;
        }
        Ok(())
    }
}

/// One point, its lines broken between words.
fn in_lines(point: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in point.split(' ') {
        let len = word.chars().count();
        if column == 0 {
            text += "  - ";
            column = 4 + len;
        } else if column + 1 + len > WIDTH {
            text += "\n    ";
            column = 4 + len;
        } else {
            text.push(' ');
            column += 1 + len;
        }
        text += word;
    }
    text + "\n"
}
