export const NO_RUN_ID =
  'Redis does not say which run of the server answers (INFO server), so a list of leases that another server wrote would not be noticed. Allow INFO for ' +
  "this user (ACL SETUSER); until then the copy answers no lookup of an absent id, as with replica: 'verified'.";

export const noLeasesOnCluster = (name: string) =>
  `Filter '${name}' has replica: 'leased' or leaseMs, which a Redis Cluster does not support: a process reads what others add and acknowledge on connections to one ` +
  "server. Expected a standalone Redis or one behind Sentinel. Set replica: 'verified' and leave leaseMs out, or give the filters a Redis of their own.";

export const acknowledgementsUnannounced = (channel: string, error: string | undefined) =>
  'BLOOM_NO_MESSAGES: This process asks Redis what others have acknowledged, since no message says so' +
  (error === undefined ? '' : ` (${error})`) +
  `; the connection is opened again. Its adds take longer, and cost Redis more. Let every user of the application publish and subscribe on the channel ${channel} (ACL SETUSER: +publish +subscribe and ` +
  'the channel), and run the same version everywhere.';

export const acknowledgementsAnswered = (error: string) =>
  `BLOOM_COMMAND_REFUSED: Redis replies to each acknowledgement of this process, though it need not (${error}): adds take longer, and cost Redis more. Let every user of the application run ` +
  'CLIENT REPLY (ACL SETUSER: +client|reply).';

export const entriesUnheard = (channel: string, error: string | undefined) =>
  'BLOOM_NO_MESSAGES: This process reads the ids that others add from a stream, since they do not come as messages' +
  (error === undefined ? '' : ` (${error})`) +
  `: it answers as it should, but each add costs Redis more. Let every user of the application publish and subscribe on the channel ${channel} (ACL SETUSER: +publish ` +
  '+subscribe and the channel), and run the same version everywhere.';
