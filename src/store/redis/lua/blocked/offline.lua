--[[
Takes a filter out of service: moves every live segment aside, so that no reader of any process finds a valid block.

KEYS[1]             meta
KEYS[2]             table of denials, which ends with the generation
KEYS[3 .. n+2]      live segments
KEYS[n+3 .. 2n+2]   where they are moved
ARGV[1]             n
ARGV[2]             tag that meta must hold now, '' for none
ARGV[3]             state to set: lost, suspect, or unbuilt, which becomes lost when there is a live segment
ARGV[4]             format to write
ARGV[5]             life of the moved segments, in milliseconds
ARGV[6]             '1': meta makes no sense and is made anew
ARGV[7]             builds that the caller knows of: fewer were made by who knew nothing of the filter

Reply: 'STALE' when meta holds another tag, or has none since the filter is offline already, else { state that was set, indexes from 0 of the segments that were moved }
]]
local kind = redis.call('TYPE', KEYS[1]).ok
local tag = kind == 'hash' and redis.call('HGET', KEYS[1], 'tag') or ''
if tag ~= ARGV[2] or (kind == 'hash' and tag == '' and ARGV[6] ~= '1') then return 'STALE' end

local segments = tonumber(ARGV[1])
local moved = {}
--safety:offline
for i = 1, segments do
  if redis.call('EXISTS', KEYS[2 + i]) == 1 then
    redis.call('RENAME', KEYS[2 + i], KEYS[2 + segments + i])
    redis.call('PEXPIRE', KEYS[2 + segments + i], ARGV[5] + i)
    moved[#moved + 1] = i - 1
  end
end
--end
local state = ARGV[3]
if state == 'unbuilt' and #moved > 0 then state = 'lost' end
local owner = kind == 'hash' and redis.call('HGET', KEYS[1], 'owner')
if kind ~= 'hash' or ARGV[6] == '1' then redis.call('DEL', KEYS[1]) end
redis.call('HDEL', KEYS[1], 'layout', 'tag', 'key', 'blocks', 'hashCount', 'maxIdBytes', 'sum', 'runId', 'count',
  'denials')
redis.call('UNLINK', KEYS[2])
if owner then redis.call('HSET', KEYS[1], 'owner', owner) end
redis.call('HSET', KEYS[1], 'format', ARGV[4], 'state', state)
if (tonumber(redis.call('HGET', KEYS[1], 'builds') or 0) or 0) < tonumber(ARGV[7]) then
  redis.call('HSET', KEYS[1], 'builds', ARGV[7])
end
return { state, unpack(moved) }
