--[[
Puts the staged generation in the place of the live one: segments and metadata at once.

KEYS[1]    meta
KEYS[2]    lease
KEYS[3..]  n staging segments, n live segments that they become, m live segments of the old generation, m names to move
           those to, and the table of denials, which ends with the old generation
ARGV[1]    token of the lease
ARGV[2]    token of the staging
ARGV[3]    run id of the server that the generation was staged on, '' when it may not be asked
ARGV[4]    tag of the old generation, '' for none
ARGV[5]    n
ARGV[6]    m
ARGV[7]    length of every staging segment but the last, in bytes
ARGV[8]    length of the last one
ARGV[9]    life of the moved segments, in milliseconds
ARGV[10]   ids that the build read
ARGV[11..] fields and values of the new generation

Reply: 'LEASE'   the lease is not the caller's
       'NOMETA'  meta is missing
       'STALE'   another staging was published, or the live generation is another one
       'SERVER'  the server is another one or restarted: adds that it had acknowledged may be missing in staging
       'LENGTH'  a staging segment is not there whole
       'OK'
]]
local meta = KEYS[1]
--safety:swap-token
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'LEASE' end
--end
if redis.call('TYPE', meta).ok ~= 'hash' then return 'NOMETA' end
local known = redis.call('HMGET', meta, 'pending.token', 'tag', 'pending.count')
--safety:swap-token
if known[1] ~= ARGV[2] then return 'STALE' end
--end
if (known[2] or '') ~= ARGV[4] then return 'STALE' end
--safety:server
if ARGV[3] ~= '' and not string.find(redis.call('INFO', 'server'), 'run_id:' .. ARGV[3], 1, true) then
  return 'SERVER'
end
--end
local staged, old = tonumber(ARGV[5]), tonumber(ARGV[6])
--safety:length
for i = 1, staged do
  if redis.call('STRLEN', KEYS[2 + i]) ~= tonumber(ARGV[i == staged and 8 or 7]) then return 'LENGTH' end
end
--end

--part:segments
for i = 1, old do
  local live, aside = KEYS[2 + 2 * staged + i], KEYS[2 + 2 * staged + old + i]
  if redis.call('EXISTS', live) == 1 then
    redis.call('RENAME', live, aside)
    redis.call('PEXPIRE', aside, ARGV[9] + i)
  end
end
for i = 1, staged do
  redis.call('PERSIST', KEYS[2 + i])
  redis.call('RENAME', KEYS[2 + i], KEYS[2 + staged + i])
end
--end
redis.call('HDEL', meta, 'pending.token', 'pending.layout', 'pending.tag', 'pending.key', 'pending.blocks',
  'pending.hashCount', 'pending.maxIdBytes', 'pending.sum', 'pending.runId', 'pending.count')
--safety:denial-swap
redis.call('HDEL', meta, 'denials')
redis.call('UNLINK', KEYS[#KEYS])
--end
local added = tonumber(known[3]) or 0
if added < 0 or added > 1e15 then added = 0 end
redis.call('HSET', meta, 'state', 'ready', 'ids', ARGV[10], 'count', ARGV[10] + added, unpack(ARGV, 11))
local builds = tonumber(redis.call('HGET', meta, 'builds')) or 0
if builds < 0 or builds > 1e14 then builds = 0 end
redis.call('HSET', meta, 'builds', string.format('%d', builds + 1))
return 'OK'
