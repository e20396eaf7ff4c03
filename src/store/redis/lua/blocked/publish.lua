--[[
Makes a staged generation known, so that from now on every add is written to it too.

KEYS[1]   meta
KEYS[2]   lease
ARGV[1]   token of the lease
ARGV[2]   run id of the server that the caller staged on, '' when it may not be asked
ARGV[3]   format that meta must have
ARGV[4]   application that publishes, '' for none; it claims a filter that nobody has claimed. Without one, a claimed filter is refused
ARGV[5..] fields and values of the staged generation

Reply: 'LEASE'   the lease is not the caller's
       'NOMETA'  meta is missing
       'FORMAT'  meta has another format
       'SERVER'  this is another server, or it restarted
       'OWNER'   the filter belongs to another application
       'OK'
]]
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'LEASE' end
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return 'NOMETA' end
if redis.call('HGET', KEYS[1], 'format') ~= ARGV[3] then return 'FORMAT' end
if ARGV[2] ~= '' and not string.find(redis.call('INFO', 'server'), 'run_id:' .. ARGV[2], 1, true) then
  return 'SERVER'
end
--safety:owner
local owner = redis.call('HGET', KEYS[1], 'owner') or ''
if owner ~= '' and owner ~= ARGV[4] then return 'OWNER' end
--end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'owner', ARGV[4]) end
redis.call('HSET', KEYS[1], 'pending.count', 0, unpack(ARGV, 5))
return 'OK'
