export { openCuckoo } from './open-cuckoo.js';
