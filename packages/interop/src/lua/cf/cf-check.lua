--[[
Asks a cuckoo filter for ids, and proves that it is the one the caller knows before one is absent.

KEYS[1]   meta
KEYS[2]   the filter
ARGV[1]   field of the metadata that holds the generation's token
ARGV[2]   the token as the caller knows it
ARGV[3]   number of canaries of the generation
ARGV[4..] the canaries, then the ids

Reply: 'STALE'  the generation is another one by now
       'LOST'   the filter is not there, is not of this generation, or not as the last write left it
       the reply of CF.MEXISTS, that of the canaries included
]]
--- @include "ask"
--- @include "all-found"
--- @include "cf-written"
local known = ask('HMGET', KEYS[1], ARGV[1], 'written')
if known[1] ~= ARGV[2] then return 'STALE' end
local found = ask('CF.MEXISTS', KEYS[2], unpack(ARGV, 4))
if not areFound(found, tonumber(ARGV[3])) then return 'LOST' end
if ARGV[1] == 'token' and not areFound(found, #found) and not isAsWritten(known[2], ARGV[2], KEYS[2]) then return 'LOST' end
return found
