export { openGrowing } from './open-growing.js';
