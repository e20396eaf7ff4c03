--[[
Puts a further layer on the live generation of a filter that grows: from now on it takes the ids.

KEYS[1]    meta
KEYS[2]    lease
KEYS[3..]  segments of the layer
ARGV[1]    token of the lease
ARGV[2]    token that the live generation must have
ARGV[3]    length of every segment but the last, in bytes
ARGV[4]    length of the last one
ARGV[5]    field for the ids of the layer
ARGV[6..]  fields and values of the generation with the layer

Reply: 'LEASE'   the lease is not the caller's
       'STALE'   another generation is live, or it has another layer
       'LENGTH'  a segment is not there whole
       'OK'
]]
--- @include "ask"
--- @include "lease"
--- @include "whole-segments"
if not holdsLease(KEYS[2], ARGV[1]) then return 'LEASE' end
if ask('HGET', KEYS[1], 'token') ~= ARGV[2] then return 'STALE' end
if not areWhole(3, #KEYS, ARGV[3], ARGV[4]) then return 'LENGTH' end
for i = 3, #KEYS do
  redis.call('PERSIST', KEYS[i])
end
redis.call('HSET', KEYS[1], ARGV[5], 0, unpack(ARGV, 6))
return 'OK'
