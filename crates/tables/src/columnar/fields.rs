//! Fields of structs as columns: `contact.email` is the field `email` of the column `contact`.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use arrow_select::nullif::nullif;
use parquet::schema::types::SchemaDescriptor;
use vesica_profiles::TypedForm;

/// Where a cell of a row is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CellPath {
    /// Position of the column.
    pub(crate) column: usize,
    /// Names of the fields below it, from outside in; none for the column itself.
    pub(crate) fields: Vec<String>,
}

/// A column whose cells are read, or a field of one: where they are, and how they become text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellColumn {
    pub(crate) path: CellPath,
    /// The text form of its cells, if it is typed.
    pub(crate) form: TypedForm,
}

impl CellPath {
    /// The cell of a column.
    pub(crate) fn of_column(column: usize) -> Self {
        Self { column, fields: Vec::new() }
    }

    /// The cell that `name` names among columns of structs. Where a point could belong to a name or
    /// stand between two, the longest first name counts.
    pub(crate) fn find(columns: &Fields, name: &str) -> Option<Self> {
        let path = find(columns, name)?;
        let (first, rest) = path.split_first()?;
        let column = columns.iter().position(|column| column == *first)?;
        Some(Self { column, fields: rest.iter().map(|field| field.name().clone()).collect() })
    }

    /// The field of a schema with these `columns` that holds the cells.
    pub(crate) fn field<'a>(&self, columns: &'a Fields) -> Option<&'a Field> {
        let column = columns.get(self.column)?.as_ref();
        self.fields.iter().try_fold(column, |outer, name| match outer.data_type() {
            DataType::Struct(fields) => fields.find(name).map(|(_, field)| field.as_ref()),
            _ => None,
        })
    }

    /// The cells in an array of the column, or of a projection of it: null where a struct around
    /// them is.
    pub(crate) fn cells(&self, column: &ArrayRef) -> Option<ArrayRef> {
        self.fields.iter().try_fold(ArrayRef::clone(column), |outer, name| {
            let outer = outer.as_struct_opt()?;
            let inner = outer.column_by_name(name)?;
            match outer.nulls() {
                None => Some(ArrayRef::clone(inner)),
                Some(nulls) => nullif(inner, &BooleanArray::new(!nulls.inner(), None)).ok(),
            }
        })
    }

    /// The columns of a Parquet file, as these count without their structs, that hold the cells.
    pub(crate) fn leaves(&self, schema: &SchemaDescriptor) -> impl Iterator<Item = usize> {
        (0..schema.num_columns()).filter(move |leaf| {
            let below = schema.column(*leaf).path().parts().get(1..).unwrap_or_default().to_vec();
            schema.get_column_root_idx(*leaf) == self.column && below.starts_with(&self.fields)
        })
    }
}

fn find<'a>(fields: &'a Fields, name: &str) -> Option<Vec<&'a FieldRef>> {
    if let Some((_, field)) = fields.find(name) {
        return Some(vec![field]);
    }
    name.rmatch_indices('.').find_map(|(at, _)| {
        let (_, outer) = fields.find(&name[..at])?;
        let DataType::Struct(inner) = outer.data_type() else { return None };
        let mut path = find(inner, &name[at + 1..])?;
        path.insert(0, outer);
        Some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(named: Vec<(&str, DataType)>) -> Fields {
        named.into_iter().map(|(name, data_type)| Field::new(name, data_type, true)).collect()
    }

    #[test]
    fn the_longest_first_name_counts() {
        let inner = || fields(vec![("c", DataType::Int8), ("b.c", DataType::Int16)]);
        let columns = fields(vec![
            ("a", DataType::Struct(fields(vec![("b", DataType::Struct(inner()))]))),
            ("a.b", DataType::Struct(inner())),
            ("d", DataType::Utf8),
            ("x.y", DataType::Int64),
            ("x", DataType::Struct(fields(vec![("y", DataType::Int32)]))),
        ]);
        for (name, column, below, data_type) in [
            ("a.b.c", 1, &["c"][..], DataType::Int8),
            ("a.b.b.c", 1, &["b.c"], DataType::Int16),
            ("x.y", 3, &[], DataType::Int64),
            ("d", 2, &[], DataType::Utf8),
        ] {
            let path = CellPath::find(&columns, name).unwrap();
            let below = below.iter().map(ToString::to_string).collect();
            assert_eq!(path, CellPath { column, fields: below });
            assert_eq!(path.field(&columns).map(Field::data_type), Some(&data_type));
        }
        for name in ["d.c", "a.c", "a.", ".a", "a..b", "b", ""] {
            assert_eq!(CellPath::find(&columns, name), None, "{name}");
        }
    }
}
