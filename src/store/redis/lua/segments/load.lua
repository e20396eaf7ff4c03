--[[
Appends a piece of a local filter to the scratch string of a rebuild.

KEYS[1]  lease
KEYS[2]  scratch string
ARGV[1]  token of the lease
ARGV[2]  length that the scratch string must have now, in bytes
ARGV[3]  the piece
ARGV[4]  life of the scratch string, in milliseconds

Reply: 'LEASE' when the lease is not the caller's, 'LENGTH' when the scratch string has another length, else 'OK'
]]
--safety:merge-token
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'LEASE' end
--end
local from = tonumber(ARGV[2])
local length = redis.call('STRLEN', KEYS[2])
-- A command that the client sent again after a broken connection has been carried out already.
if length == from + #ARGV[3] then return 'OK' end
if length ~= from then return 'LENGTH' end
redis.call('APPEND', KEYS[2], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 'OK'
