//! Estimating the time for the names of many items.

use std::time::Duration;

use crate::collection::{Collection, CollectionError};
use crate::distributor::Setting;
use crate::identity::SECOND;

/// The wait for `count` names of the subsystems of a collection, or of the `wanted` one, with `granularity`
/// in place of theirs if given.
///
/// A subsystem with a fixed granularity issues one name in that time; several issue their names in parallel.
/// With `auto` there is no wait.
pub fn waiting(
    collection: &Collection,
    wanted: Option<&str>,
    granularity: Option<Setting>,
    count: u64,
) -> Result<Duration, CollectionError> {
    // Names in 60 seconds, an integer for every granularity.
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
    // The first one of each is issued at once.
    let nanoseconds = (u128::from(count.saturating_sub(1)) * minute).checked_div(pace).unwrap_or(0);
    Ok(Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX)))
}
