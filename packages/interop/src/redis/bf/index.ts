export { openBf } from './open-bf.js';
