--[[
Decides whether a filter may be distrusted because an audit has met a wrong answer, and notes that it is. All processes share the pauses between
two of them, also those that have started since.

KEYS[1]  facts about the builds
ARGV[1]  first pause, in milliseconds
ARGV[2]  longest pause; a pause doubles while they follow one another

Reply: 1 when it may, else 0
]]
--- @include "now"
local time = redis.pcall('TIME')
local known = redis.pcall('HMGET', KEYS[1], 'distrusted', 'distrustWait')
-- A user who may not ask for the time has no facts.
if time.err or known.err then return 1 end
local now = millisecondsOf(time)
local at, wait = tonumber(known[1] or ''), tonumber(known[2] or '')
local first, last = tonumber(ARGV[1]), tonumber(ARGV[2])
-- A time that is still to come was noted before the clock was set back, and a longer pause was not set by
-- this package.
local isKnown = at and wait and at <= now and wait >= 0 and wait <= last
if isKnown and now < at + wait then return 0 end
-- A calm as long as the last pause says that the last rebuild has helped.
local nextWait = isKnown and now < at + 2 * wait and math.min(2 * wait, last) or first
redis.pcall('HSET', KEYS[1], 'distrusted', now, 'distrustWait', nextWait)
return 1
