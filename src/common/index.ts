export * from './clock.js';
export { NOT_SET } from './common.messages.js';
export * from './errors.js';
export * from './events.js';
export * from './options-check.js';
export * from './texts.js';
export * from './options-check.js';
export * from './texts.js';
export * from './wasm.js';
