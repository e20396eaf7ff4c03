--[[
Asks a filter for ids, and proves that it is the one the caller knows before one is absent.

KEYS[1]   meta
KEYS[2]   the filter
ARGV[1]   field of the metadata that holds the generation's token
ARGV[2]   the token as the caller knows it
ARGV[3]   number of canaries of the generation
ARGV[4..] the canaries, then the ids

Reply: the reply of BF.MEXISTS, that of the canaries included; or, if that is not so of all that was asked for,
       'STALE'  the generation is another one by now
       'LOST'   the filter is not there, is not of this generation, or lacks what was added to it last
]]
--- @include "refused"
--- @include "all-found"
local found = redis.pcall('BF.MEXISTS', KEYS[2], unpack(ARGV, 4))
if isRefused(found) then return found end
if areFound(found, #found) then return found end

--- @include "ask"
--- @include "bf-recent"
local known = ask('HMGET', KEYS[1], ARGV[1], 'recent')
if known[1] ~= ARGV[2] then return 'STALE' end
if not areFound(found, tonumber(ARGV[3])) then return 'LOST' end
if ARGV[1] ~= 'token' then return found end
local recent = recentOf(known[2], ARGV[2])
if not recent then return 'LOST' end
if #recent > 0 and not areFound(ask('BF.MEXISTS', KEYS[2], unpack(recent)), #recent) then return 'LOST' end
return found
