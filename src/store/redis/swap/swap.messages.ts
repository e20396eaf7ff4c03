export const LEASE_EXPIRED_UNSEEN =
  'The lease expired before this process had the reply to its request. The next attempt asks again.';
export const LEASE_TAKEN = 'Another process took over the rebuild, or Redis failed over.';
export const LEASE_NOT_RENEWED = 'The lease could not be renewed in time.';
export const LEASE_GONE = 'Another process holds the lease now, or it expired.';
export const STAGED_KEY_GONE = 'A key of the new build was evicted, deleted or changed by another program.';
export const SERVER_CHANGED = 'The server restarted or failed over during the rebuild.';
export const METADATA_GONE_IN_REBUILD = 'The metadata of the filter vanished during the rebuild.';
export const FORMAT_TOO_NEW =
  'The stored filter has another format: a newer version of nestjs-bloom wrote it, which is needed here too, or it has another number of partitions.';
export const OTHER_BUILD_LIVE = 'Another rebuild was published, or the filter kept changing.';
export const BUILDS_NOTHING_HERE =
  'The filter belongs to an application, and this one is another or has no owner. Set the same owner in both if they share the same rows, ' +
  'else give the filter another name.';
