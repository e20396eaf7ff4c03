export { type DrizzleDatabase, type DrizzleSourceOptions, fromDrizzle } from './from-drizzle.js';
