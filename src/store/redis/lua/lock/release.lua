--[[
Gives a lease back, and notes how the build ended.

KEYS[1]  lease
KEYS[2]  facts about the builds; left out when nothing was noted
ARGV[1]  token of the holder
ARGV[2]  'published', 'failed', or '' for a build that did not take place
ARGV[3]  pause after the first failure in a row, in milliseconds; it doubles with each
ARGV[4]  longest such pause
ARGV[5]  by what the pause is multiplied, so that pauses differ
ARGV[6]  shortest pause, in milliseconds

Reply: 'OK'
]]
--- @include "now"
--- @include "pause"
local lease = redis.pcall('GET', KEYS[1])
-- After the token the lease names the server that gave it.
if type(lease) == 'string' and string.match(lease, '^[^@]*') == ARGV[1] then redis.call('DEL', KEYS[1]) end
if not KEYS[2] then return 'OK' end

local known = redis.pcall('HMGET', KEYS[2], 'running', 'began', 'failures')
-- Another build has begun, or its facts are gone.
if known.err or known[1] ~= ARGV[1] then return 'OK' end
local noted
if ARGV[2] == 'published' then
  noted = redis.pcall('HSET', KEYS[2], 'live', known[2] or 0)
  redis.pcall('HDEL', KEYS[2], 'failures', 'due', 'wait')
elseif ARGV[2] == 'failed' then
  local failures = (tonumber(known[3] or '') or 0) + 1
  local pause = pauseAfter(failures, ARGV[3], ARGV[4]) * ARGV[5]
  local wait = math.ceil(math.max(pause, tonumber(ARGV[6])))
  noted = redis.pcall('HSET', KEYS[2], 'failures', failures, 'due', now() + wait, 'wait', wait)
else
  noted = redis.pcall('HDEL', KEYS[2], 'began', 'occasion')
end
-- What could not be noted, for lack of memory, is taken for a build whose process died.
if type(noted) == 'number' then redis.pcall('HDEL', KEYS[2], 'running') end
return 'OK'
