--[[
Takes a filter on a key of others out of service. The key itself is theirs and stays.

KEYS[1]  meta
ARGV[1]  token that meta must hold now, '' for none
ARGV[2]  state to set
ARGV[3]  format to write
ARGV[4]  '1': meta makes no sense and is made anew
ARGV[5]  builds that the caller knows of: fewer were made by who knew nothing of the filter

Reply: 'STALE' when meta holds another token, or has none since the filter is offline already, else 'OK'
]]
local kind = redis.call('TYPE', KEYS[1]).ok
local token = kind == 'hash' and redis.call('HGET', KEYS[1], 'token') or ''
if token ~= ARGV[1] or (kind == 'hash' and token == '' and ARGV[4] ~= '1') then return 'STALE' end
local owner = kind == 'hash' and redis.call('HGET', KEYS[1], 'owner')
if kind ~= 'hash' or ARGV[4] == '1' then redis.call('DEL', KEYS[1]) end
redis.call('HDEL', KEYS[1], 'token', 'settings', 'canaries', 'sum', 'runId', 'recent', 'written')
if owner then redis.call('HSET', KEYS[1], 'owner', owner) end
redis.call('HSET', KEYS[1], 'format', ARGV[3], 'state', ARGV[2])
if (tonumber(redis.call('HGET', KEYS[1], 'builds') or 0) or 0) < tonumber(ARGV[5]) then
  redis.call('HSET', KEYS[1], 'builds', ARGV[5])
end
return 'OK'
