export { postgresFeed } from './postgres-feed.js';
export type { PostgresFeedOptions } from './postgres-feed-options.js';
