export { openCf } from './open-cf.js';
