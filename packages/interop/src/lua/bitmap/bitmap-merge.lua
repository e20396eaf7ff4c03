--[[
Adds a piece of a local filter to the staged string, keeping the bits that adds have set there.

KEYS[1]  lease
KEYS[2]  the staged string
KEYS[3]  scratch string
KEYS[4]  another one
ARGV[1]  token of the lease
ARGV[2]  length that the staged string must have, in bytes
ARGV[3]  where the piece begins
ARGV[4]  the piece

Reply: 'LEASE' when the lease is not the caller's, 'LENGTH' when the staged string has another length, else 'OK'
]]
--- @include "lease"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
if redis.call('STRLEN', KEYS[2]) ~= tonumber(ARGV[2]) then return 'LENGTH' end
local from = tonumber(ARGV[3])
local staging = redis.call('GETRANGE', KEYS[2], ARGV[3], string.format('%d', from + #ARGV[4] - 1))
-- BITOP on the whole string would copy it for each piece.
redis.call('SET', KEYS[3], staging)
redis.call('SET', KEYS[4], ARGV[4])
redis.call('BITOP', 'OR', KEYS[3], KEYS[3], KEYS[4])
redis.call('SETRANGE', KEYS[2], ARGV[3], redis.call('GET', KEYS[3]))
redis.call('DEL', KEYS[3], KEYS[4])
return 'OK'
