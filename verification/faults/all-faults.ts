import { announcedFaults } from './announced-faults.js';
import { believingFaults } from './believing-faults.js';
import { bfFaults } from './bf-faults.js';
import { clusterFaults } from './cluster-faults.js';
import { copyFaults } from './copy-faults.js';
import type { Fault } from './fault.js';
import { failoverFaults } from './failover-faults.js';
import { foreignFaults } from './foreign-faults.js';
import { heartbeatFaults } from './heartbeat-faults.js';
import { keyFaults } from './key-faults.js';
import { leaseFaults } from './lease-faults.js';
import { linkFaults } from './link-faults.js';
import { memoryFaults } from './memory-faults.js';
import { noSourceFaults } from './no-source-faults.js';
import { outsideFaults } from './outside-faults.js';
import { ownMarksFaults } from './own-marks-faults.js';
import { ownerFaults } from './owner-faults.js';
import { proxyFaults } from './proxy-faults.js';
import { rebuilderFaults } from './rebuilder-faults.js';
import { redisFaults } from './redis-faults.js';
import { overloadFaults } from './overload-faults.js';
import { saturationFaults } from './saturation-faults.js';
import { scalingFaults } from './scaling-faults.js';
import { spellingFaults } from './spelling-faults.js';
import { serverlessFaults } from './serverless-faults.js';
import { sourceFaults } from './source-faults.js';
import { versionFaults } from './version-faults.js';
import { writeFaults } from './write-faults.js';

export const allFaults: readonly Fault[] = [
  ...redisFaults,
  ...saturationFaults,
  ...overloadFaults,
  ...memoryFaults,
  ...linkFaults,
  ...heartbeatFaults,
  ...serverlessFaults,
  ...proxyFaults,
  ...failoverFaults,
  ...clusterFaults,
  ...copyFaults,
  ...believingFaults,
  ...announcedFaults,
  ...keyFaults,
  ...sourceFaults,
  ...rebuilderFaults,
  ...leaseFaults,
  ...versionFaults,
  ...spellingFaults,
  ...ownerFaults,
  ...outsideFaults,
  ...ownMarksFaults,
  ...writeFaults,
  ...noSourceFaults,
  ...foreignFaults,
  ...scalingFaults,
  ...bfFaults,
];
