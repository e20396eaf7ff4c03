import { bfLua } from '../../src/store/redis/lua/bf.generated.js';
import { bitmapLua } from '../../src/store/redis/lua/bitmap.generated.js';
import { cfLua } from '../../src/store/redis/lua/cf.generated.js';
import { coreLua } from '../../src/store/redis/lua/core.generated.js';
import { growingLua } from '../../src/store/redis/lua/growing.generated.js';

/** Lua of every script of every kind, by name. */
export const luaSources = { ...coreLua, ...bitmapLua, ...bfLua, ...cfLua, ...growingLua };
