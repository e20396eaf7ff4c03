--[[
Puts the staged filter in the place of the live one: what is left of the journal is added, then key and metadata are changed at
once.

KEYS[1]    meta
KEYS[2]    lease
KEYS[3]    journal
KEYS[4]    the staged filter
KEYS[5]    the live filter
KEYS[6]    where the old one is moved
ARGV[1]    token of the lease
ARGV[2]    token of the staging
ARGV[3]    run id of the server that the filter was staged on, '' when it may not be asked
ARGV[4]    token of the old generation, '' for none
ARGV[5]    ids of the journal that the staged filter has already
ARGV[6]    life of the old filter, in milliseconds
ARGV[7]    ids that the build read
ARGV[8]    number of canaries of the new generation
ARGV[9..]  the canaries, then fields and values of the new generation

Reply: 'LEASE'   the lease is not the caller's
       'NOMETA'  meta is missing
       'STALE'   another staging was published, or the live generation is another one
       'SERVER'  the server is another one or restarted: adds that it had acknowledged may be missing in staging
       'LENGTH'  the staged filter or its journal is not there whole
       'TYPE'    the live key is something else, which is left alone
       the reply of BF.INSERT in which an id was refused
       'OK'
]]
local meta, journal, staged, live = KEYS[1], KEYS[3], KEYS[4], KEYS[5]
--safety:swap-token
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'LEASE' end
--end
if redis.call('TYPE', meta).ok ~= 'hash' then return 'NOMETA' end
local known = redis.call('HMGET', meta, 'pending.token', 'token', 'journaled:' .. ARGV[2])
--safety:swap-token
if known[1] ~= ARGV[2] then return 'STALE' end
--end
if (known[2] or '') ~= ARGV[4] then return 'STALE' end
--safety:server
if ARGV[3] ~= '' and not string.find(redis.call('INFO', 'server'), 'run_id:' .. ARGV[3], 1, true) then
  return 'SERVER'
end
--end

local journaled = tonumber(known[3] or '0')
local canaries = tonumber(ARGV[8])
if redis.call('LINDEX', journal, 0) ~= ARGV[2] or redis.call('LLEN', journal) ~= journaled + 1 then return 'LENGTH' end
local asked = { unpack(ARGV, 9, 8 + canaries) }
--safety:replayed
-- The last ids of the journal that the staged filter has: an older copy of it lacks them.
local replayed = tonumber(ARGV[5])
for _, id in ipairs(replayed > 0 and redis.call('LRANGE', journal, math.max(1, replayed - 7), replayed) or {}) do
  asked[#asked + 1] = id
end
--end
local found = redis.pcall('BF.MEXISTS', staged, unpack(asked))
if found.err then return string.find(found.err, 'WRONGTYPE', 1, true) and 'LENGTH' or found end
for i = 1, #asked do
  if found[i] ~= 1 then return 'LENGTH' end
end
if redis.call('EXISTS', live) == 1 and redis.pcall('BF.INFO', live).err then return 'TYPE' end

for from = tonumber(ARGV[5]) + 1, journaled, 1000 do
  local reply = redis.pcall('BF.INSERT', staged, 'NOCREATE', 'ITEMS', unpack(redis.call('LRANGE', journal, from, from + 999)))
  if reply.err then return reply end
  for i = 1, #reply do
    if type(reply[i]) == 'table' then return reply end
  end
end

if redis.call('EXISTS', live) == 1 then
  redis.call('RENAME', live, KEYS[6])
  redis.call('PEXPIRE', KEYS[6], ARGV[6])
end
redis.call('PERSIST', staged)
redis.call('RENAME', staged, live)
redis.call('UNLINK', journal)
for _, field in ipairs(redis.call('HKEYS', meta)) do
  if string.find(field, '^pending%.') or string.find(field, '^journaled:') then redis.call('HDEL', meta, field) end
end
redis.call('HDEL', meta, 'recent')
-- The canaries are what was added last; the number tells whether peers add to it from here on.
local info = redis.pcall('BF.INFO', live)
for i = 1, info.err and 0 or #info, 2 do
  local name = type(info[i]) == 'table' and info[i].ok or info[i]
  if name == 'Number of items inserted' then
    redis.call('HSET', meta, 'recent', ARGV[2] .. ' ' .. string.format('%d', info[i + 1]) .. '\n')
  end
end
redis.call('HSET', meta, 'state', 'ready', 'ids', ARGV[7], unpack(ARGV, 9 + canaries))
local builds = tonumber(redis.call('HMGET', meta, 'builds')[1] or '') or 0
if builds < 0 or builds > 1e14 then builds = 0 end
redis.call('HSET', meta, 'builds', string.format('%d', builds + 1))
return 'OK'
