--[[
Notes that a generation is live which some process cannot use, since it spells ids otherwise or reads other rows. A rebuild that brings the filter back for
such a process takes it from others. So all processes share the pauses between these rebuilds.

KEYS[1]  facts about the builds
ARGV[1]  the build
ARGV[2]  second pause, in milliseconds; there is none before the first rebuild
ARGV[3]  longest pause; pauses double while builds are contested one after the other

Reply: 'OK'
]]
--- @include "now"
local time = redis.pcall('TIME')
local known = redis.pcall('HMGET', KEYS[1], 'contested', 'contestedAt', 'contestWait')
-- A user who may not ask for the time has no facts.
if time.err or known.err or known[1] == ARGV[1] then return 'OK' end
local now = millisecondsOf(time)
local at, wait, longest = tonumber(known[2] or ''), tonumber(known[3] or ''), tonumber(ARGV[3])
-- A time that is still to come was noted before the clock was set back, and a longer pause was not set by
-- this package.
local isRecent = at and wait and at <= now and now < at + 2 * longest and wait >= 0 and wait <= longest
local nextWait = isRecent and math.min(math.max(2 * wait, ARGV[2]), longest) or 0
redis.pcall('HSET', KEYS[1], 'contested', ARGV[1], 'contestedAt', now, 'contestWait', nextWait)
return 'OK'
