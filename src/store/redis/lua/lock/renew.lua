--[[
Prolongs a lease and the staging made under it.

KEYS[1]    lease
KEYS[2..]  staging segments
ARGV[1]    the lease
ARGV[2]    life of the lease, in milliseconds
ARGV[3]    life of the staging segments, in milliseconds

Reply: 'LEASE' when the lease is not the caller's, or another server gave it, else 'OK'
]]
--- @include "lease"
--- @include "run-id"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
local givenBy = string.match(ARGV[1], '@(.+)$')
local server = givenBy and serverRunId() or ''
if server ~= '' and server ~= givenBy then return 'LEASE' end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
for i = 2, #KEYS do
  redis.call('PEXPIRE', KEYS[i], ARGV[3])
end
return 'OK'
