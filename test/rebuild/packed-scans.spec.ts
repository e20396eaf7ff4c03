import { scansPacked } from './packed-scans.js';

scansPacked();
