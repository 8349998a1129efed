//! How long the names of many items take.

use std::time::Duration;

use crate::collection::{Collection, CollectionError};
use crate::distributor::Setting;
use crate::identity::SECOND;

/// How long one has to wait for `count` names of the subsystems of a collection, or of the one that is
/// `wanted`, with `granularity` in place of theirs if it is given.
///
/// A subsystem of a fixed granularity gives one name in that time; several give their names side by side.
/// With `auto` there is nothing to wait for.
pub fn waiting(
    collection: &Collection,
    wanted: Option<&str>,
    granularity: Option<Setting>,
    count: u64,
) -> Result<Duration, CollectionError> {
    // Names in a second, as a multiple of 1 in 60 seconds: whole numbers, for granularities are.
    let mut pace: u128 = 0;
    for subsystem in &collection.settings().subsystems {
        if !subsystem.is_wanted(wanted)? {
            continue;
        }
        match granularity.unwrap_or(subsystem.granularity) {
            Setting::Auto => return Ok(Duration::ZERO),
            Setting::Fixed(granularity) => {
                pace += (60 * SECOND / granularity.nanoseconds()).unsigned_abs();
            }
        }
    }
    let minute = 60 * SECOND.unsigned_abs();
    // The first one of each is there at once.
    let nanoseconds = (u128::from(count.saturating_sub(1)) * minute).checked_div(pace).unwrap_or(0);
    Ok(Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX)))
}
