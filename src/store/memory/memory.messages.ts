export const layoutNotInMemory = (filter: string, layout: string) =>
  `Filter '${filter}' has the layout ${layout}, which is that of keys in Redis: give BloomModule.forRoot the option redis, or use the layout ` +
  "'blocked'.";

export const STAGING_DROPPED = 'The staged generation was dropped.';
