export type { BloomId } from '../../filter/index.js';
export type { BloomFeed, BloomFeedContext, BloomFeedStatus } from '../../rebuild/index.js';
export { postgresFeed } from './postgres-feed.js';
export type { PostgresFeedOptions } from './postgres-feed-options.js';
