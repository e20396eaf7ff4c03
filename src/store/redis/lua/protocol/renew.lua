--[[
Prolongs a lease and the staging made under it.

KEYS[1]    lease
KEYS[2..]  staging segments
ARGV[1]    the lease
ARGV[2]    life of the lease, in milliseconds
ARGV[3]    life of the staging segments, in milliseconds

Reply: 'LEASE' when the lease is not the caller's, or another server gave it, else 'OK'
]]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'LEASE' end
local givenBy = string.match(ARGV[1], '@(.+)$')
local info = givenBy and redis.pcall('INFO', 'server')
if type(info) == 'string' and not string.find(info, 'run_id:' .. givenBy, 1, true) then return 'LEASE' end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
for i = 2, #KEYS do
  redis.call('PEXPIRE', KEYS[i], ARGV[3])
end
return 'OK'
