//! Plots set size against time, one figure for each network, and against bytes an item.

use crate::measure::BenchError;
use plotters::prelude::*;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::Path;

const SIZE: (u32, u32) = (960, 540);

/// Width of the chart; the names of the lines are to its right.
const CHART_WIDTH: u32 = 690;

/// Distinguishable with all common kinds of colour blindness (Okabe and Ito, 2008).
const COLOURS: [RGBColor; 9] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
    RGBColor(120, 120, 120),
    RGBColor(140, 86, 75),
];

/// The measurements of `bench/run`.
#[derive(Deserialize)]
struct Measured {
    runs: Vec<Medians>,
}

/// The medians of one protocol at one size.
#[derive(Deserialize)]
struct Medians {
    protocol: String,
    n: u64,
    network: String,
    threads: u64,
    wall_s: f64,
    bytes: u64,
}

/// Other projects' figures.
#[derive(Deserialize)]
struct Peers {
    psi: Vec<Peer>,
}

#[derive(Deserialize)]
struct Peer {
    name: String,
    n: u64,
    network: String,
    wall_s: Option<f64>,
    bytes: Option<u64>,
}

/// The points of one line, by set size.
type Line = BTreeMap<u64, f64>;

/// The lines of one figure by name, ours first.
struct Figure {
    title: String,
    x_label: String,
    y_label: String,
    ours: BTreeMap<String, Line>,
    theirs: BTreeMap<String, Line>,
}

/// Draws all figures of the measurements in `psi` into the directory `out`.
pub(crate) fn draw(psi: &Path, peers: &Path, out: &Path) -> Result<(), BenchError> {
    let text =
        |path: &Path| fs::read_to_string(path).map_err(|_| BenchError::File(path.to_path_buf()));
    let measured: Measured = serde_json::from_str(&text(psi)?)?;
    let peers: Peers = serde_json::from_str(&text(peers)?)?;
    fs::create_dir_all(out).map_err(|_| BenchError::File(out.to_path_buf()))?;

    let kinds: BTreeSet<_> =
        measured.runs.iter().map(|run| (run.network.as_str(), run.threads)).collect();
    for (network, threads) in kinds {
        let runs = measured.runs.iter();
        let runs = runs.filter(|run| (run.network.as_str(), run.threads) == (network, threads));
        let peers = peers.psi.iter().filter(|peer| peer.network == network && threads == 1);
        let figure = Figure {
            title: format!("Set intersection over {network}, threads a party: {threads}"),
            x_label: set_size(),
            y_label: "seconds".to_owned(),
            ours: lines(runs.map(|run| (&*run.protocol, run.n, Some(run.wall_s)))),
            theirs: lines(peers.map(|peer| (&*peer.name, peer.n, peer.wall_s))),
        };
        figure.write(&out.join(format!("time-{network}-{threads}.svg")))?;
    }
    let an_item = |bytes: u64, n: u64| bytes as f64 / n.max(1) as f64;
    let ours = measured.runs.iter();
    let theirs = peers.psi.iter();
    let figure = Figure {
        title: "Payload of a set intersection, both ways".to_owned(),
        x_label: set_size(),
        y_label: "bytes an item of one side".to_owned(),
        ours: lines(ours.map(|run| (&*run.protocol, run.n, Some(an_item(run.bytes, run.n))))),
        theirs: lines(
            theirs
                .map(|peer| (&*peer.name, peer.n, peer.bytes.map(|bytes| an_item(bytes, peer.n)))),
        ),
    };
    figure.write(&out.join("bytes.svg"))
}

/// Lines of any figures, set sizes by default.
#[derive(Deserialize)]
struct Given {
    title: String,
    #[serde(default = "set_size")]
    x_label: String,
    #[serde(default = "as_named")]
    y_label: String,
    lines: BTreeMap<String, Line>,
    /// Those of others, as in a paper.
    #[serde(default)]
    others: BTreeMap<String, Line>,
}

fn set_size() -> String {
    "items of each side".to_owned()
}

fn as_named() -> String {
    "as named".to_owned()
}

/// Draws the lines in `figures` into the file `out`.
pub(crate) fn draw_lines(figures: &Path, out: &Path) -> Result<(), BenchError> {
    let text = fs::read_to_string(figures).map_err(|_| BenchError::File(figures.to_path_buf()))?;
    let Given { title, x_label, y_label, lines, others } = serde_json::from_str(&text)?;
    Figure { title, x_label, y_label, ours: lines, theirs: others }.write(out)
}

fn lines<'a>(points: impl Iterator<Item = (&'a str, u64, Option<f64>)>) -> BTreeMap<String, Line> {
    let mut lines: BTreeMap<String, Line> = BTreeMap::new();
    for (name, n, value) in points {
        if let Some(value) = value {
            lines.entry(name.to_owned()).or_default().insert(n, value);
        }
    }
    lines
}

impl Figure {
    fn write(&self, path: &Path) -> Result<(), BenchError> {
        self.draw_on(SVGBackend::new(path, SIZE)).ok_or(BenchError::Drawing)
    }

    /// Both axes are logarithmic: what grows with the size is a straight line.
    fn draw_on(&self, backend: SVGBackend<'_>) -> Option<()> {
        let points = || self.ours.values().chain(self.theirs.values()).flatten();
        let x = around(points().map(|(n, _)| *n as f64))?;
        let y = around(points().map(|(_, value)| *value))?;
        let whole = backend.into_drawing_area();
        whole.fill(&WHITE).ok()?;
        let (area, names) = whole.split_horizontally(CHART_WIDTH);
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.title, ("sans-serif", 20))
            .margin(16)
            .x_label_area_size(44)
            .y_label_area_size(76)
            .build_cartesian_2d(x.start.log2()..x.end.log2(), y.log_scale())
            .ok()?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(225, 225, 225))
            .x_labels(16)
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .x_label_formatter(&|log| power(*log))
            .y_label_formatter(&|value| short(*value))
            .draw()
            .ok()?;
        let ours = in_order(&self.ours).into_iter().map(|line| (true, line));
        let theirs = in_order(&self.theirs).into_iter().map(|line| (false, line));
        for (i, (ours, (name, line))) in ours.chain(theirs).enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let points: Vec<_> =
                line.iter().map(|(n, value)| ((*n as f64).log2(), *value)).collect();
            let y = 60 + 26 * i as i32;
            let (sample, label) =
                ([(0, y), (26, y)], Text::new(name.clone(), (34, y - 7), ("sans-serif", 14)));
            if ours {
                let style = colour.stroke_width(2);
                chart.draw_series(LineSeries::new(points, style).point_size(3)).ok()?;
                names.draw(&PathElement::new(sample, style)).ok()?;
            } else {
                let dashes = DashedLineSeries::new(points.clone(), 6, 4, colour.stroke_width(1));
                chart.draw_series(dashes).ok()?;
                let crosses = points.into_iter().map(|point| Cross::new(point, 4, colour));
                chart.draw_series(crosses).ok()?;
                names.draw(&PathElement::new(sample, colour)).ok()?;
                names.draw(&Cross::new((13, y), 4, colour)).ok()?;
            }
            names.draw(&label).ok()?;
        }
        whole.present().ok()
    }
}

/// The lines by their names, in which numbers sort as such.
fn in_order(lines: &BTreeMap<String, Line>) -> Vec<(&String, &Line)> {
    let mut lines: Vec<_> = lines.iter().collect();
    lines.sort_by_key(|(name, _)| by_number(name));
    lines
}

/// The text before each number of a name, and the number. Commas within numbers separate thousands.
fn by_number(name: &str) -> Vec<(String, u64)> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(start) = rest.find(is_digit) {
        let (text, from_number) = rest.split_at(start);
        let end = from_number.find(|c: char| !is_digit(c) && c != ',').unwrap_or(from_number.len());
        let (digits, after) = from_number.split_at(end);
        let number = digits.chars().filter_map(|c| c.to_digit(10));
        let number = number.fold(0u64, |sum, digit| sum.saturating_mul(10) + u64::from(digit));
        parts.push((text.to_owned(), number));
        rest = after;
    }
    parts.push((rest.to_owned(), 0));
    parts
}

/// The range of `values` with a margin; `None` if no value has a logarithm.
fn around(values: impl Iterator<Item = f64>) -> Option<Range<f64>> {
    let positive = values.filter(|value| value.is_finite() && *value > 0.0);
    let (least, most) = positive
        .fold((f64::MAX, 0.0f64), |(least, most), value| (least.min(value), most.max(value)));
    (most > 0.0).then(|| least / 1.5..most * 1.5)
}

/// A power of two; nothing between two of them.
fn power(log: f64) -> String {
    match log {
        _ if (log - log.round()).abs() > 0.01 => String::new(),
        ..6.5 => format!("{:.0}", log.exp2()),
        _ => format!("2^{log:.0}"),
    }
}

fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.0} M", value / 1e6),
        value if value >= 1e4 => format!("{:.0} k", value / 1e3),
        value if value >= 10.0 => format!("{value:.0}"),
        value if value > 0.0 && value < 1e-3 => format!("{value:.0e}"),
        // Powers of ten are not exact in binary, and all their digits would not fit.
        value => format!("{:.3}", value).trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(ours: &[(u64, f64)]) -> Figure {
        let points = ours.iter().map(|(n, value)| ("rr22", *n, Some(*value)));
        Figure {
            title: "a title".to_owned(),
            x_label: set_size(),
            y_label: "seconds".to_owned(),
            ours: lines(points),
            theirs: lines([("a peer", 1 << 20, Some(0.9))].into_iter()),
        }
    }

    #[test]
    fn a_figure_names_its_lines_and_axes() {
        let directory = std::env::temp_dir().join(format!("vesica-plot-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("figure.svg");
        figure(&[(1 << 12, 0.01), (1 << 20, 0.3)]).write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_dir_all(&directory).unwrap();
        for word in ["a title", "seconds", "items of each side", "rr22", "a peer", "polyline"] {
            assert!(text.contains(word), "{word}");
        }
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([3.0, 3.5, 20.0, -0.001].map(power), ["8", "", "2^20", "1"]);
        assert_eq!([1e-12, 0.01, 250.0, 3e4].map(short), ["1e-12", "0.01", "250", "30 k"]);
        let inexact = [1.000_000_000_000_000_2e-14, 0.1 + 0.2, 2.0];
        assert_eq!(inexact.map(short), ["1e-14", "0.3", "2"]);
    }

    #[test]
    fn names_sort_by_their_numbers() {
        let mut names =
            ["n = 2,048", "n = 512", "n = 32", "BWA", "n = 128", "s = 10, n = 2", "s = 9"];
        names.sort_by_key(|name| by_number(name));
        let sorted = ["BWA", "n = 32", "n = 128", "n = 512", "n = 2,048", "s = 9", "s = 10, n = 2"];
        assert_eq!(names, sorted);
    }

    #[test]
    fn without_measurements_there_is_no_figure() {
        assert!(around(std::iter::empty()).is_none());
        assert!(around([0.0, f64::NAN].into_iter()).is_none());
        assert_eq!(around([3.0].into_iter()), Some(2.0..4.5));
    }
}
