--[[
Adds the bits of the scratch string to a staging segment, keeping those that adds have set there.

KEYS[1]  lease
KEYS[2]  staging segment
KEYS[3]  scratch string
ARGV[1]  token of the lease
ARGV[2]  length that both must have, in bytes
ARGV[3]  life of the segment, in milliseconds

Reply: 'LEASE' when the lease is not the caller's, 'LENGTH' when one of the two has another length or they differ in their
       tag, else 'OK'
]]
--- @include "lease"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
local length = tonumber(ARGV[2])
--safety:merge-length
if redis.call('STRLEN', KEYS[2]) ~= length or redis.call('STRLEN', KEYS[3]) ~= length then return 'LENGTH' end
-- Without this check the tag of the scratch string would make blocks valid that another program has
-- overwritten.
if redis.call('GETRANGE', KEYS[2], 0, 3) ~= redis.call('GETRANGE', KEYS[3], 0, 3) then return 'LENGTH' end
--end
redis.call('BITOP', 'OR', KEYS[2], KEYS[2], KEYS[3])
-- BITOP writes a key without its expiry.
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('DEL', KEYS[3])
return 'OK'
