//! Writes rows to a file.
//!
//! * [`text`] — delimited text, plain or compressed.
//! * [`parquet`] — Parquet, from text cells or from whole batches.

pub(crate) mod parquet;
pub(crate) mod text;

#[cfg(test)]
mod tests {
    use super::parquet::TextTable;
    use super::text::{RecordWriter, TextSink};
    use std::io::{self, Write};
    use std::path::Path;
    use vesica_inputs::error::OutputError;
    use vesica_inputs::format::Codec;

    /// A disk with this many bytes left.
    struct Disk(usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 < bytes.len() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0 -= bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const CELL: &[u8] = b"a cell";
    const ROWS: usize = 200_000;

    fn write_text(disk: Disk, codec: Codec) -> Result<(), OutputError> {
        let mut sink = TextSink::new(disk, codec, Path::new("out"))?;
        let mut writer = RecordWriter::new(b',');
        for _ in 0..ROWS {
            writer.push(CELL);
            writer.finish(&mut sink)?;
        }
        sink.finish()
    }

    fn write_table(disk: Disk) -> Result<(), OutputError> {
        let mut table = TextTable::new(disk, &["a".to_string()], Path::new("out"))?;
        for _ in 0..ROWS {
            table.cell(0, CELL);
            table.end_row()?;
        }
        table.finish()
    }

    #[test]
    fn a_full_disk_is_reported_at_every_point() {
        let full = Err(OutputError::DiskFull { path: "out".into() });
        for left in [0, 3, 50] {
            for codec in [Codec::Plain, Codec::Gzip, Codec::Zstd] {
                assert_eq!(write_text(Disk(left), codec), full, "{codec} with {left}");
            }
            assert_eq!(write_table(Disk(left)), full, "Parquet with {left}");
        }
        assert_eq!(write_text(Disk(1_000_000), Codec::Plain), full);
        assert_eq!(write_text(Disk(1_400_000), Codec::Plain), Ok(()));
        assert_eq!(write_table(Disk(1_400_000)), Ok(()));
    }
}
