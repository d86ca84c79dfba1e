//! Which columns of a source are read, and whether they can be.

use super::{Layout, Source};
use crate::columnar::cells::{can_be_key, type_name};
use crate::columnar::{CellColumn, CellPath, check_key};
use arrow_schema::{Field, SchemaRef};
use vesica_inputs::error::InputError;
use vesica_profiles::{Profile, TypedForm};

impl Source {
    /// Position of a column, from 0.
    ///
    /// # Errors
    /// [`InputError::ColumnMissing`] with the nearest names, [`InputError::DuplicateColumn`] if two
    /// columns have the name.
    pub fn column_index(&self, name: &str) -> Result<usize, InputError> {
        let is_named = |column: &String| column == name;
        let Some(index) = self.columns.iter().position(is_named) else {
            return Err(self.missing(name));
        };
        match self.columns[index + 1..].iter().position(is_named) {
            None => Ok(index),
            Some(after) => Err(InputError::DuplicateColumn {
                path: self.path().to_path_buf(),
                column: name.to_owned(),
                first: index + 1,
                second: index + after + 2,
            }),
        }
    }

    /// Where a column is whose cells `profile` makes equal; checks that it can hold such cells.
    ///
    /// # Errors
    /// Errors of [`Source::column_index`], and those of a type whose cells have no text that the
    /// profile can compare.
    pub fn key_column(&self, column: &str, profile: Profile) -> Result<CellColumn, InputError> {
        let path = self.cell_path(column)?;
        let typed = self.field(&path).map_or(Ok(()), |field| check_key(field, profile));
        typed.map_err(|fault| fault.into_error(self.path(), column))?;
        Ok(CellColumn { path, form: profile.typed_form() })
    }

    /// Where a column of values is; checks that it can hold some. A decimal without a fraction is a
    /// whole number.
    ///
    /// # Errors
    /// Errors of [`Source::group_column`].
    pub fn value_column(&self, column: &str) -> Result<CellColumn, InputError> {
        let form = TypedForm { drops_zeros: true, ..TypedForm::default() };
        Ok(CellColumn { form, ..self.group_column(column)? })
    }

    /// The position of the column of groups; checks that it can hold their names.
    ///
    /// # Errors
    /// Errors of [`Source::column_index`], and [`InputError::UnsupportedValueType`].
    pub fn group_column(&self, column: &str) -> Result<CellColumn, InputError> {
        let path = self.cell_path(column)?;
        if let Some(field) = self.field(&path)
            && !can_be_key(field.data_type())
        {
            let (path, column) = (self.path().to_path_buf(), column.to_owned());
            let type_name = type_name(field.data_type());
            return Err(InputError::UnsupportedValueType { path, column, type_name });
        }
        Ok(CellColumn { path, form: TypedForm::default() })
    }

    /// The positions of the cells of a column, or of a field of a struct (`contact.email`).
    fn cell_path(&self, name: &str) -> Result<CellPath, InputError> {
        match (self.column_index(name), self.file_schema()) {
            (Err(missing @ InputError::ColumnMissing { .. }), Some(schema)) => {
                let path = CellPath::find(schema.fields(), name).ok_or(missing)?;
                // Refused if two columns have the name of the struct.
                self.column_index(&self.columns[path.column]).map(|_| path)
            }
            (column, _) => column.map(CellPath::of_column),
        }
    }

    /// The types of the columns in a file, where these have types.
    fn file_schema(&self) -> Option<&SchemaRef> {
        match self.file_layout() {
            Layout::Parquet(table) => Some(table.schema()),
            Layout::Frame(frame) => Some(frame.schema()),
            Layout::Text(_) | Layout::Folder(..) => None,
        }
    }

    /// The type of the cells, unless they are text.
    fn field(&self, cell: &CellPath) -> Option<&Field> {
        cell.field(self.file_schema()?.fields())
    }
}
