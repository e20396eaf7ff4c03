--[[
Puts a staged generation of a filter that grows in the place of the live one.

KEYS[1]    meta
KEYS[2]    lease
KEYS[3..]  segments of the staged generation, which has one layer; then those of the old one
ARGV[1]    token of the lease
ARGV[2]    token of the staged generation
ARGV[3]    run id of the server that it was staged on, '' when it may not be asked
ARGV[4]    token that the live generation must have, '' for none
ARGV[5]    length of every segment but the last, in bytes
ARGV[6]    length of the last one
ARGV[7]    ids that the build read
ARGV[8]    number of segments of the staged generation
ARGV[9..]  fields and values of the new generation

Reply: 'LEASE'   the lease is not the caller's
       'NOMETA'  meta is missing
       'STALE'   another staging was published, or the live generation is another one
       'SERVER'  the server is another one or restarted: adds that it had acknowledged may be missing in staging
       'LENGTH'  a staged segment is not there whole
       'OK'
]]
local meta = KEYS[1]
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'LEASE' end
if redis.call('TYPE', meta).ok ~= 'hash' then return 'NOMETA' end
local known = redis.call('HMGET', meta, 'pending.token', 'token', 'pending.layer:' .. ARGV[2])
if known[1] ~= ARGV[2] or (known[2] or '') ~= ARGV[4] then return 'STALE' end
if ARGV[3] ~= '' and not string.find(redis.call('INFO', 'server'), 'run_id:' .. ARGV[3], 1, true) then
  return 'SERVER'
end
local last = 2 + ARGV[8]
for i = 3, last do
  if redis.call('STRLEN', KEYS[i]) ~= tonumber(ARGV[i == last and 6 or 5]) then return 'LENGTH' end
end
for i = 3, last do
  redis.call('PERSIST', KEYS[i])
end
-- The caller removes them, unless it dies now.
for i = last + 1, #KEYS do
  redis.call('PEXPIRE', KEYS[i], 60000)
end
for _, field in ipairs(redis.call('HKEYS', meta)) do
  if string.find(field, '^pending%.') or string.find(field, '^layer%.') then redis.call('HDEL', meta, field) end
end
redis.call('HSET', meta, 'state', 'ready', 'ids', ARGV[7], 'layer.0', ARGV[7] + (known[3] or 0), unpack(ARGV, 9))
local builds = tonumber(redis.call('HMGET', meta, 'builds')[1] or '') or 0
if builds < 0 or builds > 1e14 then builds = 0 end
redis.call('HSET', meta, 'builds', string.format('%d', builds + 1))
return 'OK'
