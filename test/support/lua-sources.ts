import { bfLua } from '../../packages/interop/src/lua/bf.generated.js';
import { bitmapLua } from '../../packages/interop/src/lua/bitmap.generated.js';
import { cfLua } from '../../packages/interop/src/lua/cf.generated.js';
import { coreLua } from '../../src/store/redis/lua/core.generated.js';
import { generationLua } from '../../packages/interop/src/lua/generation.generated.js';
import { growingLua } from '../../packages/interop/src/lua/growing.generated.js';

/** Lua of every script of every kind, by name. */
export const luaSources = { ...coreLua, ...bitmapLua, ...bfLua, ...cfLua, ...generationLua, ...growingLua };
