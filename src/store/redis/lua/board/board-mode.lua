--[[
Sets the mode of all processes, or withdraws it. The record has no life.

KEYS[1]  meta
KEYS[2]  mode of all processes
ARGV[1]  application of the caller, '' for none
ARGV[2]  the mode, '-' for none
ARGV[3]  who sets it
ARGV[4]  time of the last record that the caller has heard, in milliseconds, 0 for none

Reply: { 'OWNER' }       the filter belongs to another application
       { 'OK', record }  'time mode by'; the time is later than that of every record before, also when the clock was set back
]]
--- @include "board-owner"
--- @include "board-mode-time"
--- @include "now"
if isOfOthers(KEYS[1], ARGV[1]) then return { 'OWNER' } end
local before = timeOfMode(redis.pcall('GET', KEYS[2])) or 0
local time = math.max(now(), before + 1, tonumber(ARGV[4]) + 1)
local record = string.format('%.0f ', time) .. ARGV[2] .. ' ' .. ARGV[3]
redis.call('SET', KEYS[2], record)
return { 'OK', record }
