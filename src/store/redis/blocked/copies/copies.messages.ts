export const NO_RUN_ID =
  'Redis does not say which run of the server answers (INFO server), so a list of leases that another server wrote would not be noticed. Allow INFO for ' +
  "this user (ACL SETUSER); until then the copy answers no lookup of an absent id, as with replica: 'verified'.";

export const noLeasesOnCluster = (name: string) =>
  `Filter '${name}' has replica: 'leased' or leaseMs, which a Redis Cluster does not support: a process follows the adds of others on one connection. Expected a ` +
  "standalone Redis or one behind Sentinel. Set replica: 'verified' and leave leaseMs out, or give the filters a Redis of their own.";
