--[[
Puts a staged cuckoo filter in the place of the live one: from now on the metadata name its keys.

KEYS[1]   meta
KEYS[2]   lease
KEYS[3]   the staged filter
KEYS[4]   the set of the fingerprints that have to stay in it
KEYS[5,6] the same of the old generation, if there is one
ARGV[1]   token of the lease
ARGV[2]   token of the staging
ARGV[3]   run id of the server that the filter was staged on, '' when it may not be asked
ARGV[4]   token of the old generation, '' for none
ARGV[5]   ids that the build read
ARGV[6]   number of canaries of the new generation
ARGV[7..] the canaries, then fields and values of the new generation

Reply: 'LEASE'   the lease is not the caller's
       'NOMETA'  meta is missing
       'STALE'   another staging was published, or the live generation is another one
       'SERVER'  the server is another one or restarted: adds that it had acknowledged may be missing in staging
       'LENGTH'  the staged filter is not there whole
       'OK'
]]
local meta = KEYS[1]
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'LEASE' end
if redis.call('TYPE', meta).ok ~= 'hash' then return 'NOMETA' end
local known = redis.call('HMGET', meta, 'pending.token', 'token')
if known[1] ~= ARGV[2] or (known[2] or '') ~= ARGV[4] then return 'STALE' end
if ARGV[3] ~= '' and not string.find(redis.call('INFO', 'server'), 'run_id:' .. ARGV[3], 1, true) then
  return 'SERVER'
end
local canaries = tonumber(ARGV[6])
-- A key of another type is no staged filter; whatever else the server refuses is the caller's to hear.
local function ask(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err and not string.find(reply.err, 'WRONGTYPE', 1, true) then redis.call(...) end
  return reply
end
local found = ask('CF.MEXISTS', KEYS[3], unpack(ARGV, 7, 6 + canaries))
if ask('SISMEMBER', KEYS[4], 'kept') ~= 1 then return 'LENGTH' end
for i = 1, canaries do
  if found[i] ~= 1 then return 'LENGTH' end
end
redis.call('PERSIST', KEYS[3])
redis.call('PERSIST', KEYS[4])
-- The caller removes them, unless it dies now.
for i = 5, #KEYS do
  redis.call('PEXPIRE', KEYS[i], 60000)
end
for _, field in ipairs(redis.call('HKEYS', meta)) do
  if string.find(field, '^pending%.') then redis.call('HDEL', meta, field) end
end
local info, counts = redis.call('CF.INFO', KEYS[3]), {}
for i = 1, #info, 2 do
  counts[type(info[i]) == 'table' and info[i].ok or info[i]] = info[i + 1]
end
redis.call('HSET', meta, 'written', ARGV[2] .. ' ' .. string.format('%d %d %d',
  counts['Number of items inserted'], counts['Number of items deleted'], redis.call('SCARD', KEYS[4])))
local time = redis.call('TIME')
redis.call('HSET', meta, 'state', 'ready', 'ids', ARGV[5], 'liveSince',
  string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000)), unpack(ARGV, 7 + canaries))
local builds = tonumber(redis.call('HMGET', meta, 'builds')[1] or '') or 0
if builds < 0 or builds > 1e14 then builds = 0 end
redis.call('HSET', meta, 'builds', string.format('%d', builds + 1))
return 'OK'
